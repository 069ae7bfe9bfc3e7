import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadAllYaml, loadYaml } from '@kubernetes/client-node'
import { serviceRoles } from '@orch/core/contracts'

/** The folder `deploy`. */
export const deployFolder = join(import.meta.dirname, '../../deploy')

/** The services of every cluster, sorted. Simulated nodes run only on request. */
export const deployedRoles = serviceRoles.filter((role) => role !== 'nodes').sort()

/** The members of a manifest that these tests read. */
export interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly ports?: readonly { readonly name: string; readonly port: number }[]
    readonly template?: { readonly spec: PodSpec }
  }
}

interface PodSpec {
  readonly containers: readonly {
    readonly name: string
    readonly args: readonly string[]
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  }[]
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[]
}

/** The command line of one process: the command, then its flags. */
export interface Started {
  readonly from: string
  readonly command: string
  readonly flags: readonly string[]
}

/** Renders a kustomization. */
export function render(kubectl: string, overlay: string): { readonly text: string; readonly manifests: readonly Manifest[] } {
  const text = execFileSync(kubectl, ['kustomize', join(deployFolder, 'kustomize', overlay)], { encoding: 'utf8' })
  return { text, manifests: loadAllYaml(text) as Manifest[] }
}

/** Our processes that the manifests start. */
export function startedBy(overlay: string, manifests: readonly Manifest[]): Started[] {
  return manifests
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ metadata, spec }) => {
      const [command = '', ...flags] = spec?.template?.spec.containers[0]?.args ?? []
      return { from: `${overlay} ${metadata.name}`, command, flags }
    })
}

/** Our processes in the Compose file. */
export function composeServices(): Started[] {
  const { services } = loadYaml(readFileSync(join(deployFolder, 'compose.yaml'), 'utf8')) as {
    services: Record<string, { command: string[] }>
  }
  return Object.entries(services)
    .filter(([name]) => /^orch-(?!etcd$|nats$)/.test(name))
    .map(
      ([
        name,
        {
          command: [command = '', ...flags],
        },
      ]) => ({ from: `compose ${name}`, command, flags }),
    )
}

/** The processes that the systemd units start. */
export function systemdServices(): Started[] {
  const folder = join(deployFolder, 'systemd')
  return readdirSync(folder).map((file) => {
    const text = readFileSync(join(folder, file), 'utf8').replaceAll('\\\n', ' ')
    const line = /^ExecStart=\S+ \S+main\.js\s+(.*)$/m.exec(text)?.[1] ?? ''
    const [command = '', ...flags] = line.trim().split(/\s+/)
    return { from: `systemd ${file}`, command, flags }
  })
}
