/** Bytes as unpadded base64url text. */
export function toBase64Url(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Decodes unpadded base64url; undefined for an invalid text. As in Go, unused bits of the last character have no effect. */
export function parseBase64Url(text: string): Uint8Array | undefined {
  if (text.length % 4 === 1 || !/^[\w-]*$/.test(text)) return undefined
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index)
  return bytes
}

/** Decodes padded base64; undefined for an invalid text. */
export function parseBase64(text: string): Uint8Array | undefined {
  const unpadded = text.replace(/(?<!=)=+$/, '')
  return parseBase64Url(unpadded.replaceAll('+', '-').replaceAll('/', '_'))
}
