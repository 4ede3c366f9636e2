/** What every pane needs: the session, the store of its frames, and how a command is given. */

import { createContext, useContext, useSyncExternalStore } from "react";
import type { Page } from "../documents";
import type { Selection } from "../selection";
import type { Session } from "../session";

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("a pane stands outside the Lab");
  return session;
}

/** What the reader looks at; the caller is drawn anew when that is something else. */
export function useSelection(): Selection {
  const { selection } = useSession();
  useSyncExternalStore(selection.subscribe, () => selection.revision);
  return selection;
}

/** The page as it is now; the caller is drawn anew with every frame of the store. */
export function usePage(): Page | null {
  const { store } = useSession();
  useSyncExternalStore(store.subscribe, () => store.frame);
  return store.page;
}

/** A small value made of the page; the caller is drawn anew only when it changes. */
export function useOfPage<T extends string | number | boolean | null>(
  read: (page: Page, now: number) => T,
  absent: T,
): T {
  const { store } = useSession();
  return useSyncExternalStore(store.subscribe, () => {
    return store.page === null ? absent : read(store.page, store.now());
  });
}

/** For everything that takes the focus: keys pressed there are none of the notebook's shortcuts. */
export const KEEPS_KEYS = { "data-lm-suppress-shortcuts": "true" } as const;
