import type { ClientRequest, IncomingMessage } from 'node:http'

/** The head of the answer to a request. Rejects if the server changes the protocol: Node closes the connection then, without an error. */
export function answerHead(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.on('response', resolve).on('error', reject)
  request.on('close', () => reject(new Error('the server has changed the protocol without being asked to')))
  return promise
}
