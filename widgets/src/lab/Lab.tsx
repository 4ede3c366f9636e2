/** The Lab: where each pane stands. */

import { GraphPane } from "../graph/GraphPane";
import { KnobsPane } from "../panes/Knobs";
import { StatusLine } from "../panes/Status";
import type { Session } from "../session";
import { TimelinePane } from "../timeline/TimelinePane";
import { shownName } from "../value";
import { SessionContext, useOfPage } from "./context";
import { Header } from "./Header";
import { keepKeys, markFocused } from "./keys";
import { Notices } from "./Notices";
import { SideTabs } from "./SideTabs";
import { useDark } from "./theme";

export function Lab({ session }: { session: Session }) {
  return (
    <SessionContext.Provider value={session}>
      <Frame />
    </SessionContext.Provider>
  );
}

function Frame() {
  const dark = useDark();
  const title = useOfPage((page) => page.title, "");
  const loaded = useOfPage(() => true, false);
  return (
    <section
      className={`dexnb ${dark ? "dexnb-dark" : "dexnb-light"}`}
      aria-label={`Lab of ${shownName(title) || "a Flow"}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the focus comes in here and can be given back
      tabIndex={0}
      data-lm-suppress-shortcuts="true"
      data-jp-suppress-context-menu=""
      onFocus={markFocused}
      onKeyDown={keepKeys}
      onKeyUp={keepKeys}
    >
      {loaded ? <Panes dark={dark} /> : <p className="dexnb-empty">Waiting for the kernel…</p>}
    </section>
  );
}

function Panes({ dark }: { dark: boolean }) {
  return (
    <>
      <Header />
      <Notices />
      <div className="dexnb-main">
        <GraphPane dark={dark} />
        <SideTabs />
      </div>
      <KnobsPane />
      <TimelinePane />
      <StatusLine />
    </>
  );
}
