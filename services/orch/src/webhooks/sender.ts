import { createHttpsTransport, loadConfiguration } from '@orch/client'
import { isLinkLocal, lookupElsewhere, messageOf, SettingsError } from '@orch/platform'
import { isLoopback } from '../serving/loopback.ts'

/** The answer of a webhook. */
interface WebhookAnswer {
  readonly code: number
  readonly body: string
}

/** Posts JSON to the server of a client configuration file. */
export interface WebhookSender {
  /** Rejects when there is no answer in time, or one that is too long. Redirects are answers like any other. */
  send(body: string, timeoutMs: number): Promise<WebhookAnswer>
  close(): void
}

/** Bytes of an answer that are read: a review has some KiB. */
const answerBytesMax = 1024 * 1024

/** Reads the file that a flag names; requests hold credentials, so it requires TLS or this very machine. */
export async function openWebhookSender(flag: string, path: string): Promise<WebhookSender> {
  const configuration = await loadConfiguration(path).catch((error: unknown) => {
    throw new SettingsError(`${flag}=${path}: ${messageOf(error)}`)
  })
  checkServer(`${flag}=${path}`, configuration.server)
  const transport = createHttpsTransport(configuration, { lookup: lookupElsewhere, http1Only: true })
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  return {
    async send(json, timeoutMs) {
      const signal = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)))
      const { status, body } = await transport.send({ method: 'POST', path: '', headers, body: json, signal })
      const chunks: Uint8Array[] = []
      let length = 0
      for await (const bytes of body) {
        length += bytes.length
        if (length > answerBytesMax) throw new Error(`the answer has more than ${answerBytesMax} bytes`)
        chunks.push(bytes)
      }
      return { code: status, body: Buffer.concat(chunks).toString() }
    },
    close: () => transport.close(),
  }
}

function checkServer(where: string, server: string): void {
  const { protocol, hostname } = parseServer(where, server)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isThisMachine = isLoopback(host) || host === 'localhost'
  if (protocol !== 'https:' && !(protocol === 'http:' && isThisMachine)) {
    throw new SettingsError(`${where}: server: ${server}: must begin with https://; http:// is for loopback addresses alone`)
  }
  if (isLinkLocal(host)) throw new SettingsError(`${where}: server: ${server}: link-local addresses are not asked`)
}

function parseServer(where: string, server: string): URL {
  if (!URL.canParse(server)) throw new SettingsError(`${where}: server: ${server}: must be an address such as https://host/path`)
  return new URL(server)
}
