/** The item at an index that a list is known to have. Throws if there is no such item, which is a fault of the caller. */
export function at<T>(list: ArrayLike<T>, index: number): NonNullable<T> {
  const item = list[index]
  if (item === undefined || item === null) throw new Error(`a list of ${list.length} has no item at ${index}`)
  return item
}
