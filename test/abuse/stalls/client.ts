/** The client's thread sends the requests, so that the measurement does not count the client's work as the server's. */
import { Agent, request as httpsRequest } from 'node:https'
import { parentPort, workerData } from 'node:worker_threads'
import type { Answered, Credentials, Heavy } from './requests.ts'

const { url, credentials } = workerData as { readonly url: string; readonly credentials: Credentials }
const agent = new Agent({ keepAlive: true, maxSockets: 1_024, ...credentials })

parentPort?.on('message', (asked: Heavy & { readonly id: number }) => {
  void send(asked).then((answered) => parentPort?.postMessage({ id: asked.id, ...answered }))
})

/** Resolves when the answer is complete, or for a watch when it has begun. */
function send({ method, path, body, type = 'application/json', headers = {} }: Heavy): Promise<Answered> {
  return new Promise((resolve) => {
    const content = body === undefined ? {} : { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }
    const request = httpsRequest(`${url}${path}`, { method, agent, headers: { ...content, ...headers } })
    const isWatch = path.includes('watch=1')
    request.once('error', (error) => resolve({ code: 0, bytes: 0, text: error.message }))
    request.once('response', (response) => {
      const code = response.statusCode ?? 0
      let bytes = 0
      let text = ''
      if (isWatch) resolve({ code, bytes, text })
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (text.length < 300) text += chunk.toString('utf8', 0, 300)
      })
      response.once('end', () => resolve({ code, bytes, text }))
      response.once('error', () => resolve({ code: 0, bytes, text }))
    })
    request.end(body)
  })
}
