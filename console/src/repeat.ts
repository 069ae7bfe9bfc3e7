const againMs = 3_000

/** Reads something of the server every three seconds while the page is seen, until it fails. Gives the function that ends it. */
export function repeat<T>(read: () => Promise<T>, show: (found: T) => void, onFailure: (error: unknown) => void = () => {}): () => void {
  let isOver = false
  let timer: number | undefined
  const turn = async () => {
    try {
      const found = document.hidden ? undefined : await read()
      if (isOver) return
      if (found !== undefined) show(found)
      timer = setTimeout(() => void turn(), againMs)
    } catch (error) {
      if (!isOver) onFailure(error)
    }
  }
  void turn()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
