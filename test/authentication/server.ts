import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningServer, type StartOptions, start } from 'orch'
import { onTestFinished, vi } from 'vitest'
import { credentialsOf } from '../abuse/credentials.ts'
import { type Answer, type Asking, ask } from '../http/ask.ts'

interface WithToken extends Pick<Asking, 'method' | 'body'> {
  readonly token?: string
  readonly headers?: Record<string, string>
}

export interface TestServer {
  readonly server: RunningServer
  readonly client: RunningServer['client']
  /** Sends a request without a certificate. */
  ask(path: string, asking?: WithToken): Promise<Answer>
  /** Sends a request as the administrator. */
  askAsAdmin(path: string, asking?: WithToken): Promise<Answer>
}

/** A server for one test, with the authority of the given certificate. */
export async function aServer({ authority = '', ...options }: StartOptions & { readonly authority?: string } = {}): Promise<TestServer> {
  const server = await start(options)
  const { ca: own, cert, key } = await credentialsOf(server)
  const ca = [own, authority].filter((pem) => pem !== '')
  const strangers = new Agent({ keepAlive: true, ca })
  const admins = new Agent({ keepAlive: true, ca, cert, key })
  onTestFinished(async () => {
    strangers.destroy()
    admins.destroy()
    await server.stop()
  })
  return {
    server,
    client: server.client,
    ask: (path, asking = {}) => send(server.url + path, asking, strangers),
    askAsAdmin: (path, asking = {}) => send(server.url + path, asking, admins),
  }
}

function send(url: string, { token, headers, ...asking }: WithToken, agent: Agent): Promise<Answer> {
  return ask(url, { ...asking, agent, headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers } })
}

/** A file for a flag; the test removes the file at its end. */
export function aFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-authentication-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'file')
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

const core = (plural: string) => ({ group: '', version: 'v1', plural, namespaced: true })

export const serviceAccounts = core('serviceaccounts')
export const secrets = core('secrets')
export const pods = core('pods')
export const nodes = core('nodes')

/** The path of SelfSubjectReviews. */
export const whoAmIPath = '/apis/authentication.orch.io/v1/selfsubjectreviews'

/** The user of this token; the status code if the server refuses the token. */
export async function whoIs({ ask }: Pick<TestServer, 'ask'>, token: string) {
  const { code, body } = await ask(whoAmIPath, { method: 'POST', token, body: {} })
  return code === 201 ? body.status.userInfo : code
}

/** Waits until a check holds: usually milliseconds, on a busy machine seconds. */
export function until<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 90_000, interval: 20 })
}
