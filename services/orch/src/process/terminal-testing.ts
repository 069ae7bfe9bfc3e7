import type { Terminal } from './terminal.ts'

/** A terminal in a folder, which is its home, too. `printed` is all that it has shown. */
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
