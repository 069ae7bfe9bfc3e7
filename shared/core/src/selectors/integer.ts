const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n

/** Whether a text is a decimal int64, with or without a sign. */
export function isTextOfInteger(text: string): boolean {
  if (!/^[-+]?\d{1,32}$/.test(text)) return false
  const value = toInteger(text)
  return value >= int64Min && value <= int64Max
}

/** The integer of such a text. */
export function toInteger(text: string): bigint {
  return text.startsWith('+') ? BigInt(text.slice(1)) : BigInt(text)
}
