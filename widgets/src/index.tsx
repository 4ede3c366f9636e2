/** The module that anywidget loads: one session per model, one React root per view. */

import "@xyflow/react/dist/base.css";
import "./styles/index.css";
import { startTransition } from "react";
import { createRoot } from "react-dom/client";
import { Lab } from "./lab/Lab";
import { type Model, Session, sessionOf } from "./session";

function initialize({ model }: { model: Model }): () => void {
  const session = new Session(model);
  return () => session.dispose();
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const found = sessionOf(model);
  // A host that calls no initialize gets a session per view.
  const session = found ?? new Session(model);
  const root = createRoot(el);
  // A large Flow is mounted in several tasks, so that the page answers meanwhile.
  startTransition(() => root.render(<Lab session={session} />));
  const leave = session.transport.mounted();
  let gone = false;
  return () => {
    if (gone) return;
    gone = true;
    leave();
    root.unmount();
    if (!found) session.dispose();
  };
}

export default { initialize, render };
