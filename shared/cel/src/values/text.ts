/** Number of code points of a text. A lone surrogate counts as one. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0xd800 || unit > 0xdbff) continue
    const next = text.charCodeAt(index + 1)
    if (next < 0xdc00 || next > 0xdfff) continue
    count--
    index++
  }
  return count
}

/** Number of bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) length += 1
    else if (unit < 0x800) length += 2
    else if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      length += 4
      index++
    } else length += 3
  }
  return length
}

/** Negative, zero or positive in the order of code points, which is that of UTF-8. */
export function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a === b) continue
    const aHigh = a >= 0xd800 && a <= 0xdfff
    const bHigh = b >= 0xd800 && b <= 0xdfff
    return aHigh === bHigh ? a - b : aHigh ? 1 : -1
  }
  return left.length - right.length
}

/** Negative, zero or positive in the order of octets. */
export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}
