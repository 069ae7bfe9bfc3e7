import { Agent } from 'node:https'
import { type StartOptions, start } from 'orch'
import { onTestFinished } from 'vitest'
import { type Answer, ask } from '../http/ask.ts'
import { credentialsOf } from './credentials.ts'

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
    ask(`${server.url}${path}`, { method, agent, body, headers: body === undefined ? {} : { 'content-type': type } })
}
