/** The offset basis of the hash, lowest 32 bits first. */
const offset = [0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e] as const
/** The FNV prime minus 2^88. */
const prime = 0x13b

/** 128-bit FNV-1a over the UTF-8 of a text, in hexadecimal. */
export function fnv128a(text: string): string {
  let [a, b, c, d]: [number, number, number, number] = [...offset]
  for (const byte of new TextEncoder().encode(text)) {
    const first = (a ^ byte) >>> 0
    const second = b
    const low = first * prime
    const next = second * prime + Math.floor(low / 2 ** 32)
    // 2^88 shifts by 24 bits within the third of four words.
    const third = c * prime + Math.floor(next / 2 ** 32) + ((first << 24) >>> 0)
    const fourth = d * prime + Math.floor(third / 2 ** 32) + ((second << 24) >>> 0) + (first >>> 8)
    a = low >>> 0
    b = next >>> 0
    c = third >>> 0
    d = fourth >>> 0
  }
  return [d, c, b, a].map((part) => part.toString(16).padStart(8, '0')).join('')
}
