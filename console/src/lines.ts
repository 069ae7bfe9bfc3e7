/** Maximum milliseconds of parsing before the page gets a turn. */
const turnMs = 8

/** Reads a stream of JSON lines. It passes them on in batches, so that parsing never blocks the page for long. */
export async function readLines<T>(body: ReadableStream<Uint8Array>, take: (values: readonly T[]) => void): Promise<void> {
  let rest = ''
  let startedMs = performance.now()
  for await (const text of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const end = text.lastIndexOf('\n')
    const lines = end < 0 ? [] : (rest + text.slice(0, end)).split('\n')
    rest = end < 0 ? rest + text : text.slice(end + 1)
    let values: T[] = []
    for (const line of lines) {
      if (performance.now() - startedMs >= turnMs) {
        take(values)
        values = []
        await nextTurn()
        startedMs = performance.now()
      }
      if (line !== '') values.push(JSON.parse(line))
    }
    take(values)
  }
}

/** Lets the page draw and handle events. */
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
