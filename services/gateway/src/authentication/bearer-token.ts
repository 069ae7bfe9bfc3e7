/** The token of an `Authorization` header: all that follows the word `Bearer`. undefined: the header carries none. */
export function bearerTokenOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const match = /^bearer[ \t]+(\S.*)$/is.exec(header.trim())
  return match === null ? undefined : toText(match[1] as string)
}

/** Headers come one character for each byte; a token is the text that these bytes mean. */
function toText(bytes: string): string {
  for (let index = 0; index < bytes.length; index += 1) {
    if (bytes.charCodeAt(index) > 0x7f) return Buffer.from(bytes, 'latin1').toString('utf8')
  }
  return bytes
}
