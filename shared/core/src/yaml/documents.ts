/** A line that begins or ends a document. */
const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm

/** The first document of a stream, with its lines where they are. What follows it is not looked at. */
export function firstDocument(text: string): string {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text
  let hasBegun = false
  for (const { 0: mark, index } of source.matchAll(marker)) {
    if (index > 0 && !isLineStart(source, index)) continue
    if (hasBegun || !isPreamble(source.slice(0, index))) return source.slice(0, index)
    hasBegun = mark === '---'
  }
  return source
}

/** The language's own `^` takes more characters for the end of a line. */
function isLineStart(source: string, index: number): boolean {
  const before = source[index - 1]
  return before === '\n' || before === '\r'
}

const nothingThere = /^[ \t]*(?:[#%].*)?$/

/** Comments, directives and empty lines, which may stand before a document begins. */
function isPreamble(text: string): boolean {
  return text.split(/\r\n?|\n/).every((line) => nothingThere.test(line))
}
