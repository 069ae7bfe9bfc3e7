/** The largest body of a request, in bytes: no value can be larger. */
const requestBytesMax = 3_145_728n

/** A text without a bound. */
export const unboundedText = requestBytesMax - 2n
export const durationSize = 32n
export const jsonDateSize = 12n
export const dateTimeSize = 32n

/** The bytes of the smallest values in JSON. */
export const minSizes = { text: 2n, boolean: 4n, number: 1n, duration: 3n, dateTime: 21n, container: 2n } as const

/** How many items a list without a bound can have. */
export function maxItemsWithin(itemMinSize: bigint): bigint {
  return (requestBytesMax - 2n) / (itemMinSize + 1n)
}

/** How many entries a map without a bound can have. */
export function maxPropertiesWithin(valueMinSize: bigint): bigint {
  return (requestBytesMax - 2n) / (valueMinSize + 6n)
}

/** How many values of a size one request can have at most. */
export function maxPlacesWithin(minSize: bigint): bigint {
  return requestBytesMax / (minSize + 1n)
}
