import { type ChildProcess, fork } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { Agent } from 'node:https'
import { aCertificate, type CertificateOptions } from '@orch/platform/any-certificate'
import { onTestFinished } from 'vitest'
import { ask } from '../http/ask.ts'
import { aFolder } from './folder.ts'
import type { FromProvider, ToProvider } from './oidc-process.ts'

/** A signing key in a provider's form. */
export function aKey(kid: string) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { key: privateKey, jwk: { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' } }
}

/** The same for an elliptic curve key. */
export function aCurveKey(kid: string) {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { key: privateKey, jwk: { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' } }
}

let shared: ChildProcess | undefined
let providersMade = 0

/** The process of all providers; it ends with the test process. */
function providers(): ChildProcess {
  if (shared !== undefined) return shared
  const child = fork(new URL('./oidc-process.ts', import.meta.url), {
    execArgv: ['--no-warnings'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  child.setMaxListeners(0)
  child.unref()
  child.channel?.unref()
  process.once('exit', () => child.kill())
  shared = child
  return child
}

/** An OpenID provider in another process, with TLS and replaceable keys. */
export async function anOidcProvider(
  first: ReturnType<typeof aKey>,
  { path = '', ...serving }: CertificateOptions & { path?: string } = {},
) {
  const pair = await aCertificate({ commonName: 'provider', isAuthority: true, hasNames: true, ...serving })
  const child = providers()
  providersMade += 1
  const id = providersMade
  const asked: string[] = []
  const note = (message: FromProvider) => {
    if (message.id === id && message.kind === 'asked') asked.push(message.path)
  }
  child.on('message', note)
  // Several messages may arrive at once; the test must see every message.
  const tell = (message: ToProvider, answer: FromProvider['kind']) => {
    const { promise, resolve } = Promise.withResolvers<FromProvider>()
    const hear = (reply: FromProvider) => {
      if (reply.id !== id || reply.kind !== answer) return
      child.off('message', hear)
      resolve(reply)
    }
    child.on('message', hear)
    child.send(message)
    return promise
  }
  onTestFinished(async () => {
    await tell({ kind: 'stop', id }, 'stopped')
    child.off('message', note)
  })
  const started = await tell({ kind: 'start', id, ...pair, keys: [first.jwk], path }, 'started')
  const issuer = started.kind === 'started' ? started.issuer : ''
  return {
    issuer,
    /** The paths of the received requests. */
    asked,
    caFile: aFolder().write('provider.crt', pair.certificate),
    rotate: (key: ReturnType<typeof aKey>) => tell({ kind: 'rotate', id, keys: [key.jwk] }, 'rotated'),
    /** An ID token that the provider signs. */
    token: (claims: object, clientId = 'orch') => askForToken(issuer, pair.certificate, claims, clientId),
    /** Removes or restores the listener. */
    goDown: () => tell({ kind: 'switch', id, isDown: true }, 'switched'),
    comeBack: () => tell({ kind: 'switch', id, isDown: false }, 'switched'),
  }
}

async function askForToken(issuer: string, ca: string, claims: object, clientId: string): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'claims',
    client_id: clientId,
    client_secret: 'secret',
    claims_wanted: JSON.stringify(claims),
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const { text } = await ask(`${issuer}/token`, { method: 'POST', ca, agent: new Agent(), headers, body: form.toString() })
  const { id_token: token } = JSON.parse(text) as { id_token?: string }
  if (token === undefined) throw new Error(text)
  return token
}
