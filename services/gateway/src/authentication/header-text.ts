/** Header values have one character for each byte; this decodes these bytes. */
export function textOfHeader(bytes: string): string {
  for (let index = 0; index < bytes.length; index += 1) {
    if (bytes.charCodeAt(index) > 0x7f) return Buffer.from(bytes, 'latin1').toString('utf8')
  }
  return bytes
}

/** The key in a header's name: lower case, percent-decoded; an invalid one stays unchanged. */
export function keyOfHeader(name: string): string {
  const key = name.toLowerCase()
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
