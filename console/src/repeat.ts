import { isReachable } from './session.ts'

const againMs = 3_000

/** Polls the server every three seconds while the page is visible, until the server refuses. Returns a function that stops it. */
export function repeat<T>(read: () => Promise<T>, show: (found: T) => void, onFailure: (error: unknown) => void = () => {}): () => void {
  let isOver = false
  let timer: number | undefined
  const turn = async () => {
    try {
      const found = document.hidden ? undefined : await read()
      if (isOver) return
      if (found !== undefined) show(found)
    } catch (error) {
      if (isOver) return
      if (isReachable.value) return onFailure(error)
    }
    timer = setTimeout(() => void turn(), againMs)
  }
  void turn()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
