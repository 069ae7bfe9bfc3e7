/** A document of a stream, and the line where it begins, counted from 1. */
export interface YamlDocument {
  readonly source: string
  readonly line: number
}

/** The documents of a stream, without empty ones. A line of three dashes begins each document but the first. */
export function yamlDocuments(text: string): readonly YamlDocument[] {
  const documents: YamlDocument[] = []
  let lines: string[] = []
  let first = 1
  const end = (next: number) => {
    if (lines.some((line) => /^\s*[^\s#]/.test(line)))
      documents.push({ source: next > 0 ? `${lines.join('\n')}\n` : lines.join('\n'), line: first })
    lines = []
    first = next
  }
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^---(\s|$)/.test(line)) end(index + 1)
    else if (/^\.\.\.\s*$/.test(line)) end(index + 2)
    // Text after the dashes belongs to the document; it may be a comment or a value.
    if (!/^\.\.\.\s*$/.test(line)) lines.push(/^---(\s|$)/.test(line) ? line.slice(3) : line)
  }
  end(0)
  return documents
}
