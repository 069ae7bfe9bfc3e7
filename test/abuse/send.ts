import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { type StartOptions, start } from 'orch'
import { onTestFinished } from 'vitest'
import { credentialsOf } from './credentials.ts'

interface Answer {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: { readonly message: string; readonly metadata: { readonly resourceVersion: string }; readonly [field: string]: unknown }
}

export type Send = (method: string, path: string, body?: unknown, type?: string) => Promise<Answer>

/** A test server, which the client reaches over any number of sockets. The client sends text unchanged and any other value as JSON. */
export async function aServer(options: StartOptions = {}): Promise<Send> {
  const server = await start(options)
  const agent = new Agent({ keepAlive: true, maxSockets: 128, ...(await credentialsOf(server)) })
  onTestFinished(async () => {
    agent.destroy()
    await server.stop()
  })
  return (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(body === undefined || typeof body === 'string' ? (body ?? '') : JSON.stringify(body))
      // Node.js by default announces no length for a DELETE.
      const headers = body === undefined ? {} : { 'content-type': type, 'content-length': bytes.length }
      const request = httpsRequest(`${server.url}${path}`, { method, agent, headers })
      request.once('error', reject)
      request.once('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.once('error', reject)
        response.once('end', () => {
          const isJson = response.headers['content-type'] === 'application/json' && text !== ''
          resolve({ code: response.statusCode ?? 0, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} })
        })
      })
      request.end(bytes)
    })
}
