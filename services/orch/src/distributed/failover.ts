import { type Transport, UnsentError } from '@orch/client'

/**
 * One way to several servers that show the same state. All requests go to one of them; when it cannot be reached, what has not
 * left goes to the next at once, and everything after it too.
 */
export function createFailover(transports: readonly Transport[]): Transport {
  let current = 0
  const sendFrom: Transport['send'] = async (request) => {
    for (let asked = 1; ; asked += 1) {
      const index = current
      const transport = transports[index]
      if (transport === undefined) throw new Error('expected at least one server')
      try {
        return await transport.send(request)
      } catch (error) {
        if (request.signal?.aborted === true) throw error
        if (index === current) current = (index + 1) % transports.length
        if (!(error instanceof UnsentError) || asked >= transports.length) throw error
      }
    }
  }
  return {
    send: sendFrom,
    close() {
      for (const transport of transports) transport.close()
    },
  }
}
