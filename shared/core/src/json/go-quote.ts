import { quote } from '@orch/cel/quote'

/** Maximum characters of a value in a message. A message may show one value several times. */
const shownMax = 65_536

/** The beginning of a value, for a message, and as many characters of its end as asked for. */
export function shown(text: string, endMax = 0): string {
  return text.length <= shownMax + endMax ? text : `${text.slice(0, shownMax)}...${text.slice(text.length - endMax)}`
}

/** The beginning of a text as Go's `%q` prints it. */
export function goQuote(text: string): string {
  return quote(shown(text))
}
