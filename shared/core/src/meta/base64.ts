const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Bytes as unpadded base64url text. */
export function toBase64Url(bytes: Uint8Array): string {
  let text = ''
  for (let index = 0; index < bytes.length; index += 3) {
    const [first = 0, second, third] = [bytes[index], bytes[index + 1], bytes[index + 2]]
    text += alphabet.charAt(first >> 2) + alphabet.charAt(((first & 3) << 4) | ((second ?? 0) >> 4))
    if (second !== undefined) text += alphabet.charAt(((second & 15) << 2) | ((third ?? 0) >> 6))
    if (third !== undefined) text += alphabet.charAt(third & 63)
  }
  return text
}

/** Decodes unpadded base64url; undefined for an invalid text. As in Go, unused bits of the last character have no effect. */
export function parseBase64Url(text: string): Uint8Array | undefined {
  if (text.length % 4 === 1) return undefined
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let bits = 0
  let bitCount = 0
  let filled = 0
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit === -1) return undefined
    bits = ((bits << 6) | digit) & 0xffff
    bitCount += 6
    if (bitCount < 8) continue
    bitCount -= 8
    bytes[filled] = (bits >> bitCount) & 0xff
    filled += 1
  }
  return bytes
}

/** Decodes padded base64; undefined for an invalid text. */
export function parseBase64(text: string): Uint8Array | undefined {
  return parseBase64Url(text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))
}
