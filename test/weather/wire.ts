import { type ClientHttp2Session, connect } from 'node:http2'
import { request as requestOverHttp1 } from 'node:https'
import { parseConfiguration } from '@orch/client'
import { onTestFinished } from 'vitest'

interface WireRequest {
  readonly method?: string
  readonly path: string
  readonly body?: string
  readonly headers?: Record<string, string>
}

/** All received parts of an answer. */
export interface WireAnswer {
  /** 0: no byte has arrived. */
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  /** The code of the error that ended the answer; '' for an orderly end. */
  readonly error: string
}

/** Sends requests over one protocol and never repeats a request. */
export interface Wire {
  send(request: WireRequest): Promise<WireAnswer>
  /** Sends an HTTP/2 ping. Resolves to true with the answer, or to false without an answer in this time. */
  ping(withinMs: number): Promise<boolean>
}

/** A wire for the user of a configuration file. */
export async function wireOf(protocol: 'http1' | 'http2', kubeconfig: string): Promise<Wire> {
  const { server, certificateAuthority: ca, clientCertificate: cert, clientKey: key } = await parseConfiguration(kubeconfig)
  const trust = { ca: ca ?? '', cert: cert ?? '', key: key ?? '' }
  if (protocol === 'http1') return { send: (request) => sendOverHttp1(server, trust, request), ping: async () => false }
  const session = connect(server, trust)
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  return {
    send: (request) => sendOverHttp2(session, request),
    ping: (withinMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, withinMs, false)
        session.ping((error) => {
          clearTimeout(timer)
          resolve(error === null)
        })
      }),
  }
}

function sendOverHttp1(server: string, trust: object, { method = 'GET', path, body, headers }: WireRequest): Promise<WireAnswer> {
  return new Promise((resolve) => {
    const answer = { status: 0, headers: {}, body: '', error: '' }
    const sent = requestOverHttp1(`${server}${path}`, { ...trust, agent: false, method, headers: headersOf(body, headers) }, (response) => {
      Object.assign(answer, { status: response.statusCode, headers: response.headers })
      response.setEncoding('utf8').on('data', (text: string) => {
        answer.body += text
      })
      response
        .on('end', () => resolve(answer))
        .on('error', (error: NodeJS.ErrnoException) => resolve({ ...answer, error: error.code ?? '' }))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ ...answer, error: error.code ?? '' }))
    sent.end(body)
  })
}

function sendOverHttp2(session: ClientHttp2Session, { method = 'GET', path, body, headers }: WireRequest): Promise<WireAnswer> {
  return new Promise((resolve) => {
    const answer = { status: 0, headers: {}, body: '', error: '' }
    const stream = session.request({ ':method': method, ':path': path, ...headersOf(body, headers) })
    stream.on('response', (fields) => Object.assign(answer, { status: fields[':status'], headers: fields }))
    stream.setEncoding('utf8').on('data', (text: string) => {
      answer.body += text
    })
    stream.on('error', (error: NodeJS.ErrnoException) => {
      answer.error = error.code ?? ''
    })
    stream.on('close', () => resolve({ ...answer, error: answer.error || (stream.rstCode === 0 ? '' : `reset ${stream.rstCode}`) }))
    stream.end(body)
  })
}

function headersOf(body: string | undefined, headers: Record<string, string> = {}): Record<string, string> {
  return body === undefined ? headers : { 'content-type': 'application/json', ...headers }
}
