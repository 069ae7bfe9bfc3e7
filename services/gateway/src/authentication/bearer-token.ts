import { textOfHeader } from './header-text.ts'

/** The token of an `Authorization` header: all that follows the word `Bearer`. undefined: the header carries none. */
export function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const match = /^bearer[ \t]+(\S.*)$/is.exec(header.trim())
  return match === null ? undefined : textOfHeader(match[1] ?? '')
}
