import { createHttpsTransport, loadConfiguration, type TransportResponse } from '@orch/client'
import { brokenAnswer, type CallRefusal, isLinkLocal, lookupElsewhere, messageOf, passCall, SettingsError } from '@orch/platform'
import { isLoopback } from '../serving/loopback.ts'
import type { Surroundings } from '../surroundings.ts'

interface WebhookAnswer {
  readonly code: number
  readonly body: string
}

/** Posts JSON to the server of a client configuration file. */
export type WebhookSender = Awaited<ReturnType<typeof openWebhookSender>>

/** The largest answer in bytes: a review has some KiB. */
const answerBytesMax = 1024 * 1024

/** The file that a flag names, and the kind and name of the webhook: `authorization/one`. */
export interface WebhookFile {
  readonly flag: string
  readonly path: string
  readonly to: string
}

/** Reads the file. The server must use TLS or run on this machine, because requests contain credentials. */
export async function openWebhookSender({ flag, path, to }: WebhookFile, { clock, faults }: Pick<Surroundings, 'clock' | 'faults'>) {
  const configuration = await loadConfiguration(path).catch((error: unknown) => {
    throw new SettingsError(`${flag}=${path}: ${messageOf(error)}`)
  })
  checkServer(`${flag}=${path}`, configuration.server)
  const transport = createHttpsTransport(configuration, { lookup: lookupElsewhere, http1Only: true })
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  return {
    /** Rejects if the answer is late or too long. Does not follow redirects: it returns them as answers. */
    async send(json: string, timeoutMs: number) {
      const late = new AbortController()
      const { signal } = late
      const end = () => late.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
      const timer = clock.after(timeoutMs, end, { background: true })
      const send = async () => readAnswer(await transport.send({ method: 'POST', path: '', headers, body: json, signal }))
      try {
        return await passCall(faults?.calls, { to, signal, send, ...inPlace })
      } finally {
        timer.cancel()
      }
    },
    close: () => transport.close(),
  }
}

/** The answers that faults give. */
const inPlace = {
  refuse: ({ code, body }: CallRefusal): WebhookAnswer => ({ code, body }),
  truncate(): never {
    throw brokenAnswer()
  },
}

async function readAnswer({ status, body }: TransportResponse): Promise<WebhookAnswer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const bytes of body) {
    length += bytes.length
    if (length > answerBytesMax) throw new Error(`the answer has more than ${answerBytesMax} bytes`)
    chunks.push(bytes)
  }
  return { code: status, body: Buffer.concat(chunks).toString() }
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
