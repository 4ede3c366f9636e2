/**
 * Commands from the page to Python: each has an id and is sent again with the same id until it is
 * answered, because a message may be lost while a kernel is busy.
 */

import type { CommandName, FromPython, Json, JsonObject, ToPython } from "./documents";
import type { Timers } from "./timers";

export const RETRY_SECONDS = 1;
export const MOST_RETRIES = 5;
export const QUEUED_SECONDS = 0.4;

/**
 * pending: just sent. queued: the kernel has not come to it, or has put it off.
 * unanswered: given up. refused: answered with an error. dropped: a newer one took its place.
 */
export type CommandState = "pending" | "queued" | "unanswered" | "refused" | "done" | "dropped";

export interface Command {
  id: string;
  name: CommandName;
  args: JsonObject;
  /** Of two open commands with one topic only the newer one counts. */
  topic: string;
  state: CommandState;
  error: string;
  /** What Python answered, once it is done. */
  result: Json;
  retries: number;
}

type Reply = Extract<FromPython, { kind: "reply" }>;

interface Open {
  command: Command;
  settle: (command: Command) => void;
  stops: (() => void)[];
}

export class Commands {
  /** The newest command of each topic, shown until the next one or until it is dismissed. */
  readonly shown = new Map<string, Command>();
  private readonly open = new Map<string, Open>();

  constructor(
    private readonly send: (message: ToPython) => void,
    private readonly timers: Timers,
    private readonly changed: () => void,
    private readonly newId: () => string,
  ) {}

  /** Send a command; the promise settles with its last state and never rejects. */
  issue(name: CommandName, args: JsonObject, topic: string = name): Promise<Command> {
    this.supersede(topic);
    const command: Command = {
      id: this.newId(),
      name,
      args,
      topic,
      state: "pending",
      error: "",
      result: null,
      retries: 0,
    };
    this.shown.set(topic, command);
    return new Promise((settle) => {
      this.open.set(command.id, { command, settle, stops: [] });
      this.dispatch(command.id);
    });
  }

  /** Send an unanswered command again, under the same id. */
  retry(topic: string): void {
    const command = this.shown.get(topic);
    if (command?.state !== "unanswered") return;
    command.retries = 0;
    command.state = "pending";
    this.dispatch(command.id);
  }

  dismiss(topic: string): void {
    this.supersede(topic);
    this.shown.delete(topic);
    this.changed();
  }

  answered(reply: Reply): void {
    const open = this.open.get(reply.id);
    if (!open) return;
    stopAll(open);
    const { command } = open;
    command.error = reply.error;
    command.result = reply.result;
    if (reply.ok && reply.state === "queued") {
      command.state = "queued";
    } else {
      this.open.delete(reply.id);
      command.state = reply.ok ? "done" : "refused";
      if (reply.ok && this.shown.get(command.topic) === command) {
        this.shown.delete(command.topic);
      }
      open.settle(command);
    }
    this.changed();
  }

  dispose(): void {
    for (const open of this.open.values()) stopAll(open);
    this.open.clear();
  }

  private supersede(topic: string): void {
    const older = this.shown.get(topic);
    const open = older && this.open.get(older.id);
    if (!open) return;
    // A retry of the older one could arrive behind the newer one and undo it.
    stopAll(open);
    this.open.delete(open.command.id);
    open.command.state = "dropped";
    open.settle(open.command);
  }

  private dispatch(id: string): void {
    const open = this.open.get(id);
    if (!open) return;
    const { name, args } = open.command;
    this.send({ kind: "command", id, name, args });
    open.stops = [this.timers.after(RETRY_SECONDS, () => this.again(id))];
    if (open.command.state === "pending") {
      open.stops.push(this.timers.after(QUEUED_SECONDS, () => this.mark(id, "queued")));
    }
    this.changed();
  }

  private again(id: string): void {
    const open = this.open.get(id);
    if (!open) return;
    if (open.command.retries >= MOST_RETRIES) {
      stopAll(open);
      this.mark(id, "unanswered");
      return;
    }
    open.command.retries += 1;
    this.dispatch(id);
  }

  private mark(id: string, state: CommandState): void {
    const open = this.open.get(id);
    if (!open) return;
    open.command.state = state;
    this.changed();
  }
}

function stopAll(open: Open): void {
  for (const stop of open.stops) stop();
  open.stops = [];
}
