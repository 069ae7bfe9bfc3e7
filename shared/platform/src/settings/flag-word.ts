/** A flag on a command line. */
export interface FlagWord {
  /** The flag with its dashes. */
  readonly flag: string
  /** The text after `=`; undefined if there is no `=`. */
  readonly text: string | undefined
}

/** Splits `--name=value`. */
export function splitFlag(word: string): FlagWord {
  const cut = word.indexOf('=')
  return cut < 0 ? { flag: word, text: undefined } : { flag: word.slice(0, cut), text: word.slice(cut + 1) }
}
