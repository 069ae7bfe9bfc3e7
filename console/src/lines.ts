/** Milliseconds of one turn in which lines are parsed; then the page has its turn. */
const turnMs = 8

/** Reads a stream of lines of JSON. Lines are handed on in parts, so that no turn of the page lasts long. */
export async function readLines<T>(body: ReadableStream<Uint8Array>, take: (values: readonly T[]) => void): Promise<void> {
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    let values: T[] = []
    let startedMs = performance.now()
    for (const line of lines) {
      if (line === '') continue
      values.push(JSON.parse(line))
      if (performance.now() - startedMs < turnMs) continue
      take(values)
      values = []
      await nextTurn()
      startedMs = performance.now()
    }
    if (values.length > 0) take(values)
  }
}

/** Lets the page draw and take events. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.addEventListener('message', () => {
      port1.close()
      resolve()
    })
    port1.start()
    port2.postMessage(undefined)
  })
}
