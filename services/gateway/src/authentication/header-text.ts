/** Header values come one character for each byte; this is the text that these bytes mean. */
export function textOfHeader(bytes: string): string {
  for (let index = 0; index < bytes.length; index += 1) {
    if (bytes.charCodeAt(index) > 0x7f) return Buffer.from(bytes, 'latin1').toString('utf8')
  }
  return bytes
}

/** The part of a header's name that is a key: lower case, percent-decoded; one that cannot be decoded stands as it came. */
export function keyOfHeader(name: string): string {
  const key = name.toLowerCase()
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
