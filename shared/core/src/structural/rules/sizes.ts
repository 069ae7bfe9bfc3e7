/** Maximum size of a request's body in bytes, and so of every value. */
const requestBytesMax = 3_145_728n

/** The size of a text without a limit. */
export const unboundedText = requestBytesMax - 2n
export const durationSize = 32n
export const jsonDateSize = 12n
export const dateTimeSize = 32n

/** The sizes in bytes of the smallest JSON values. */
export const minSizes = { text: 2n, boolean: 4n, number: 1n, duration: 3n, dateTime: 21n, container: 2n } as const

/** The maximum number of items in a list without a limit. */
export function maxItemsWithin(itemMinSize: bigint): bigint {
  return (requestBytesMax - 2n) / (itemMinSize + 1n)
}

/** The maximum number of entries in a map without a limit. */
export function maxPropertiesWithin(valueMinSize: bigint): bigint {
  return (requestBytesMax - 2n) / (valueMinSize + 6n)
}

/** The maximum number of values of a minimum size in one request. */
export function maxPlacesWithin(minSize: bigint): bigint {
  return requestBytesMax / (minSize + 1n)
}
