/** The largest body of a request, in bytes: no value can be larger. */
const requestBytesMax = 3_145_728n

/** A text without a bound. */
export const unboundedText = requestBytesMax - 2n
export const durationSize = 32n
export const jsonDateSize = 12n
export const dateTimeSize = 32n

/** The bytes of the smallest values in JSON. */
export const minSizes = { text: 2n, boolean: 4n, number: 1n, duration: 3n, dateTime: 21n, container: 2n } as const

/** The largest number of items in a list without a bound. */
export function maxItemsWithin(itemMinSize: bigint): bigint {
  return (requestBytesMax - 2n) / (itemMinSize + 1n)
}

/** The largest number of entries in a map without a bound. */
export function maxPropertiesWithin(valueMinSize: bigint): bigint {
  return (requestBytesMax - 2n) / (valueMinSize + 6n)
}

/** The largest number of values of a size in one request. */
export function maxPlacesWithin(minSize: bigint): bigint {
  return requestBytesMax / (minSize + 1n)
}
