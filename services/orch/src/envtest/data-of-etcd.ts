import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '@orch/platform'
import { StartError } from '../start-error.ts'
import { dataFolderPath } from './etcd-words.ts'

/** Some harnesses start both programs at once, so etcd may listen later. */
const waitMs = 20_000
const retryMs = 30

/** The data folder of the etcd at the first of these URLs that answers; undefined for a real etcd. Waits up to 20 s. */
export async function findDataFolder(servers: readonly string[], clock: Clock): Promise<string | undefined> {
  const endMs = clock.monotonic() + waitMs
  for (;;) {
    for (const server of servers) {
      const found = await ask(server)
      if (found !== undefined) return found.dataFolder
    }
    if (clock.monotonic() > endMs) throw new StartError(`--etcd-servers=${servers.join(',')}: none answered within ${waitMs / 1000} s`)
    await sleep(retryMs)
  }
}

/** Undefined if no program listens there yet. */
async function ask(server: string): Promise<{ readonly dataFolder: string | undefined } | undefined> {
  if (server.startsWith('https:')) return { dataFolder: undefined }
  try {
    const { statusCode, text } = await get(new URL(dataFolderPath, server))
    return { dataFolder: statusCode === 200 ? readAnswer(text) : undefined }
  } catch {
    return undefined
  }
}

/** A request over a new connection, which ends with the request. */
function get(url: URL): Promise<{ readonly statusCode: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, timeout: 5_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve({ statusCode: response.statusCode, text }))
      response.on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error(`${url} does not answer`)))
    request.on('error', reject)
  })
}

function readAnswer(text: string): string | undefined {
  const answer: unknown = JSON.parse(text)
  if (typeof answer !== 'object' || answer === null || !('dataFolder' in answer)) return undefined
  return typeof answer.dataFolder === 'string' ? answer.dataFolder : undefined
}
