import type { Terminal } from './terminal.ts'

/** A terminal with one folder as home and working folder. `printed` is all output so far. */
export function printingTerminal(folder: string, words: readonly string[]) {
  const printed = { out: '', error: '' }
  const terminal: Terminal = {
    arguments: words,
    env: { HOME: folder },
    workingFolder: folder,
    out: (text) => {
      printed.out += text
    },
    error: (text) => {
      printed.error += text
    },
  }
  return { printed, terminal }
}
