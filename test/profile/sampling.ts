import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { CpuProfile } from './steps.ts'

/** The processes that loaded `sampler.mjs`, and their profiles. */
export type Sampling = Awaited<ReturnType<typeof openSampling>>

/** The longest time that a process may take to send its profile. */
const handOverMs = 30_000

interface Said {
  readonly pid: number
  readonly profile?: CpuProfile
}

/** The environment that loads the sampler into a process and its children. */
export function samplerEnvironment({ path }: Pick<Sampling, 'path'>): Record<string, string> {
  return { PROFILE_SOCKET: path, NODE_OPTIONS: `--import=${new URL('./sampler.mjs', import.meta.url).href}` }
}

/** Listens for samplers on a socket that only this user can reach. */
export async function openSampling() {
  const folder = mkdtempSync(join(tmpdir(), 'orch-sampling-'))
  const path = join(folder, 'socket')
  const sockets = new Set<Socket>()
  const profiles = new Map<number, CpuProfile>()
  let noticed = () => {}
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      noticed()
    })
    createInterface({ input: socket }).on('line', (line) => {
      const { pid, profile } = JSON.parse(line) as Said
      if (profile !== undefined) profiles.set(pid, profile)
      noticed()
    })
  })
  server.listen(path)
  await once(server, 'listening')
  const tell = (word: string) => {
    for (const socket of sockets) socket.write(`${word}\n`)
  }
  return {
    /** The socket to which the samplers connect. */
    path,
    begin() {
      profiles.clear()
      tell('start')
    },
    /** The profiles since `begin`, by process id. */
    async end() {
      tell('stop')
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, handOverMs)
        noticed = () => {
          if (profiles.size < sockets.size) return
          clearTimeout(timer)
          resolve()
        }
      })
      return profiles
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
