import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Faults, KeptDetails, RequestLog } from '@orch/gateway'
import {
  administratorOf,
  type CertificateMemory,
  certificateFolder,
  certificateMemory,
  clientIssuer,
  generateKeysNow,
  systemClock,
  virtualClock,
  withActivity,
  writePrivateFile,
} from '@orch/platform'
import { keepControlToken } from '../authentication/open.ts'
import { type Server, type ServerOptions, startServer } from '../server.ts'
import { controlFile } from '../settings/general.ts'
import type { StopOptions } from '../surroundings.ts'
import { ControlDoor } from './control/control.ts'
import { InProcessServer } from './start.ts'
import { readStartSettings, type StartOptions } from './start-settings.ts'

/** A server of `orch up` that a test controls. */
export interface ControlledOptions {
  /** The options of the server except its clock and its files. */
  readonly server: Omit<ServerOptions, 'clock' | 'certificateFiles'>
  readonly dataDir: string
  readonly isVirtual: boolean
  /** The options of its forks. */
  readonly start: StartOptions
}

/** Starts a server with a control, and writes the file by which programs find it. */
export async function startControlledServer({ server: options, dataDir, isVirtual, start }: ControlledOptions): Promise<Server> {
  const moved = isVirtual ? virtualClock() : undefined
  const { clock, activity } = withActivity(moved ?? systemClock)
  const { chance, log } = options
  const certificateFiles = folderOfCertificates(dataDir)
  const controlToken = keepControlToken(certificateFiles)
  const requestLog = new RequestLog(clock, { details: new KeptDetails() })
  const faults = new Faults({ chance, clock, log, onHit: (request) => requestLog.noteFault(request) })
  const door = new ControlDoor()
  const file = join(dataDir, controlFile)
  const removeFile = () => rmSync(file, { force: true })
  let how: StopOptions = { delayMs: 0, graceMs: 0 }
  let running: InProcessServer | undefined
  /** Opens the control, whose callers may begin when the server is ready. */
  const beforeReady = async (server: Server) => {
    const issue = await clientIssuer({ files: certificateFiles, clock })
    const { commonName, organizations } = administratorOf(server.names.serverServiceName)
    // Faults do not affect the control's client; they affect the administrator's.
    const { certificate, key } = issue({ commonName, organizations }, generateKeysNow('P-256'))
    const configuration = { ...server.configuration, clientCertificate: certificate, clientKey: key }
    const stop = () => server.stop(moved === undefined ? how : { delayMs: 0, graceMs: 0 })
    running = new InProcessServer(
      {
        server: { ...server, configuration, stop },
        ...{ issue, certificateFiles, chance, activity, clock, requestLog, faults, log, door, controlToken },
        options: moved === undefined ? start : { ...start, clock: moved },
        settings: readStartSettings(start),
      },
      { delayMs: 0, graceMs: 0 },
    )
    writePrivateFile(file, `${JSON.stringify(running.control, undefined, 2)}\n`)
    await options.beforeReady?.(server)
  }
  const started = await startServer({
    ...options,
    ...{ clock, certificateFiles, requestLog, faults, control: door.handle, controlToken, beforeReady },
  }).catch((error) => {
    removeFile()
    throw error
  })
  return {
    ...started,
    async stop(given) {
      how = given
      removeFile()
      await running?.stop()
    },
  }
}

/** The certificates of a data folder, which a fork copies. */
function folderOfCertificates(folder: string): CertificateMemory {
  const files = certificateFolder(folder)
  const texts = () => {
    const names = readdirSync(folder).filter((name) => /\.(?:crt|key|token)$/.test(name))
    return new Map(names.map((name): [string, string] => [name, readFileSync(join(folder, name), 'utf8')]))
  }
  return {
    ...files,
    get texts() {
      return texts()
    },
    fork: () => certificateMemory(texts()),
  }
}
