/** Whether the host is dark now: JupyterLab's mark, VS Code's, marimo's, else the system's wish. */

import { useEffect, useState } from "react";

const QUERY = "(prefers-color-scheme: dark)";

export function isDark(): boolean {
  const { body, documentElement } = document;
  const jupyter = body.dataset.jpThemeLight;
  if (jupyter) return jupyter === "false";
  const code = body.dataset.vscodeThemeKind;
  if (code) return code.includes("dark") || code === "vscode-high-contrast";
  if (body.classList.contains("dark") || documentElement.classList.contains("dark")) return true;
  if (body.classList.contains("light") || documentElement.classList.contains("light")) return false;
  return window.matchMedia?.(QUERY).matches ?? false;
}

export function useDark(): boolean {
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    const look = () => setDark(isDark());
    const observer = new MutationObserver(look);
    const attributeFilter = ["data-jp-theme-light", "data-vscode-theme-kind", "class"];
    observer.observe(document.body, { attributes: true, attributeFilter });
    observer.observe(document.documentElement, { attributes: true, attributeFilter });
    const media = window.matchMedia?.(QUERY);
    media?.addEventListener("change", look);
    return () => {
      observer.disconnect();
      media?.removeEventListener("change", look);
    };
  }, []);
  return dark;
}
