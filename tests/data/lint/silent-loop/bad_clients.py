"""Clients that come by a stack or a stub, and questions whose names look like something else."""

from __future__ import annotations

import asyncio
import contextlib
import time
from contextlib import AsyncExitStack, ExitStack, closing

import boto3
import dockyard_pb2
import dockyard_pb2_grpc
import grpc
import httpx
import mysql.connector
import requests
import s3fs
from dexnb import AsyncContext, Context, Flow, Step, StepDecision, StepList, graceful_complete
from harbour import beacons

OVER = ("berthed", "lost")


class AwaitPilot(Step[str]):
    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(httpx.AsyncClient(timeout=None))
            while (await client.get("/pilots/" + input)).json()["state"] not in OVER:  # expect: DX103 DX104 DX203 DX207
                await asyncio.sleep(20)  # expect: DX201?
        return graceful_complete(input)


class AwaitTug(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        with ExitStack() as stack:
            session = stack.enter_context(requests.Session())
            while session.get("/tugs/" + input).json()["state"] not in OVER:  # expect: DX103 DX104 DX203 DX207
                time.sleep(20)  # expect: DX201?
        return graceful_complete(input)


class AwaitPapers(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        with closing(mysql.connector.connect(database="papers")) as connection:
            cursor = connection.cursor()
            while True:  # expect: DX103 DX203 DX207
                cursor.execute("select state from papers where ship = %s", (input,))  # expect: DX104?
                if cursor.fetchone()[0] in OVER:
                    return graceful_complete(input)
                time.sleep(20)  # expect: DX201?


class AwaitCrane(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        with contextlib.closing(grpc.insecure_channel("cranes")) as channel:
            stub = dockyard_pb2_grpc.CranesStub(channel)
            while stub.Crane(dockyard_pb2.Ship(name=input)).state not in OVER:  # expect: DX103 DX104? DX203 DX207
                time.sleep(20)  # expect: DX201?
        return graceful_complete(input)


class AwaitBeacon(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        while beacons.GetBeacon(input).state not in OVER:  # expect: DX103 DX104? DX203
            time.sleep(20)  # expect: DX201?
        while beacons.receive_status(input) not in OVER:  # expect: DX103 DX104? DX203
            time.sleep(20)  # expect: DX201?
        while beacons.take_snapshot(input).state not in OVER:  # expect: DX103 DX104? DX203 DX207
            time.sleep(20)  # expect: DX201?
        return graceful_complete(input)


class AwaitCargo(Step[str]):
    def execute(self, context: Context, input: str) -> StepDecision:  # expect: DX401
        files = s3fs.S3FileSystem()
        while not files.exists(f"cargo/{input}/LIST"):  # expect: DX103 DX104? DX203
            time.sleep(20)  # expect: DX201?
        orders = boto3.resource("sqs").Queue(input)
        while orders.has_more():  # expect: DX103 DX104? DX203 DX207
            time.sleep(20)  # expect: DX201?
        return graceful_complete(input)


class Berthing(Flow[str]):
    def get_steps(self) -> StepList[str]:
        others = (AwaitTug(), AwaitPapers(), AwaitCrane(), AwaitBeacon(), AwaitCargo())
        return StepList.start_step(AwaitPilot()).other_steps(*others)
