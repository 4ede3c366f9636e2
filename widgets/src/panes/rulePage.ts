/** A rule's page: a summary, then the sections What, Why and Instead, each of paragraphs and code. */

export interface Block {
  code: boolean;
  text: string;
}

export interface Section {
  title: string;
  blocks: Block[];
}

const TITLE = /^(\w+):$/;
const INDENT = "    ";

export function sectionsOf(page: string): Section[] {
  const sections: Section[] = [];
  let open: { title: string; lines: string[] } = { title: "", lines: [] };
  const close = () => {
    const blocks = blocksOf(open.lines);
    if (blocks.length > 0) sections.push({ title: open.title, blocks });
  };
  for (const line of page.split("\n")) {
    const title = TITLE.exec(line)?.[1];
    if (title === undefined) {
      open.lines.push(open.title ? without(line) : line);
      continue;
    }
    close();
    open = { title, lines: [] };
  }
  close();
  return sections;
}

function without(line: string): string {
  return line.startsWith(INDENT) ? line.slice(INDENT.length) : line;
}

/** Paragraphs, and between them code, which is indented; what announces it ends in two colons. */
function blocksOf(lines: string[]): Block[] {
  const blocks: Block[] = [];
  for (const chunk of lines.join("\n").split(/\n\s*\n/)) {
    const part = chunk.replace(/^\n+/, "").trimEnd();
    const code = part.startsWith(INDENT);
    const last = blocks.at(-1);
    if (code && last?.code) last.text += `\n\n${outdented(part)}`;
    else if (part) blocks.push({ code, text: code ? outdented(part) : plain(part) });
  }
  return blocks;
}

function outdented(text: string): string {
  return text.split("\n").map(without).join("\n");
}

function plain(text: string): string {
  return text
    .trim()
    .replace(/\s*\n\s*/g, " ")
    .replace(/::$/, ":")
    .replaceAll("`", "");
}
