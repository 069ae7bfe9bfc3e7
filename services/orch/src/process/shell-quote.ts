/** A word of a command line for a POSIX shell. */
export function shellQuote(text: string): string {
  return /^[\w./:@=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
