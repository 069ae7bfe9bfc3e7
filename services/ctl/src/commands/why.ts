import { isRefusal } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { type EventObject, explainedKinds, type Finding, why as findReasons, type World } from '@orch/core/workloads'
import { type Command, command } from '../command.ts'
import { printYaml } from '../output/yaml.ts'
import type { Session } from '../session.ts'
import { readTargets } from '../targets.ts'
import type { CtlTerminal } from '../terminal.ts'
import { CtlError } from '../words.ts'

/** `orchctl why`. */
export const why: Command = command({
  usage: 'why resource name',
  doc: 'print what an object, its Pods and its claims wait for',
  takesObjects: true,
  flags: { output: { short: 'o', word: 'json|yaml', doc: 'Print the reasons as JSON or YAML. (default text)' } },
  async run({ terminal, session, flags, rest }) {
    const findings: Finding[] = []
    for (const { resource, namespace, name } of await readTargets(session, rest, { 'all-namespaces': false })) {
      if (name === undefined) throw new CtlError('objects must be named: why resource name')
      if (!explainedKinds.includes(resource.kind))
        throw new CtlError(`why ${resource.plural}: must be one of these kinds: ${explainedKinds.join(', ')}`)
      await session.client.resource(resource).get(name, { namespace })
      const finding = findReasons(resource.kind, name, await readWorld(session, terminal))
      if (finding === undefined) throw new CtlError(`${resource.plural} "${name}" is no longer there`)
      findings.push(finding)
    }
    terminal.out(await printed(findings, flags.output))
  },
})

async function printed(findings: readonly Finding[], output: string | undefined): Promise<string> {
  const value = findings.length === 1 ? findings[0] : findings
  if (output === 'json') return `${JSON.stringify(value, null, 4)}\n`
  if (output === 'yaml') return printYaml(value)
  return findings.map((finding) => printFinding(finding, '')).join('\n')
}

/** Unserved lists are empty, and so are lists that the user may not read, which causes a warning. */
async function readWorld(session: Session, terminal: CtlTerminal): Promise<World> {
  const { client, namespace } = session
  const served = new Set((await session.resources.all()).map(({ group, version, plural }) => `${group}/${version}/${plural}`))
  const list = async <T extends ApiObject>(group: string, plural: string, versions: readonly string[] = ['v1']): Promise<readonly T[]> => {
    const version = versions.find((each) => served.has(`${group}/${each}/${plural}`))
    if (version === undefined) return []
    try {
      return (await client.resource<T>({ group, version, plural, namespaced: true }).listAll({ namespace })).items
    } catch (error) {
      if (!isRefusal(error, [403])) throw error
      terminal.error(`Warning: ${error.message}\n`)
      return []
    }
  }
  const [deployments, replicaSets, replicationControllers, statefulSets, daemonSets, jobs, cronJobs] = await Promise.all([
    list<World['deployments'][number]>('apps', 'deployments'),
    list<World['replicaSets'][number]>('apps', 'replicasets'),
    list<World['replicationControllers'][number]>('', 'replicationcontrollers'),
    list<World['statefulSets'][number]>('apps', 'statefulsets'),
    list<World['daemonSets'][number]>('apps', 'daemonsets'),
    list<World['jobs'][number]>('batch', 'jobs'),
    list<World['cronJobs'][number]>('batch', 'cronjobs'),
  ])
  const [pods, claims, budgets, autoscalers, services, events] = await Promise.all([
    list<World['pods'][number]>('', 'pods'),
    list<World['claims'][number]>('', 'persistentvolumeclaims'),
    list<World['budgets'][number]>('policy', 'poddisruptionbudgets'),
    list<World['autoscalers'][number]>('autoscaling', 'horizontalpodautoscalers', ['v2']),
    list<World['services'][number]>('', 'services'),
    list<EventObject>('', 'events'),
  ])
  return {
    names: await session.names(),
    deployments,
    replicaSets,
    replicationControllers,
    statefulSets,
    daemonSets,
    jobs,
    cronJobs,
    pods,
    claims,
    budgets,
    autoscalers,
    services,
    events,
  }
}

/** One line for the object, with its reasons and parts indented below. */
function printFinding({ kind, name, state, waits, parts, alike, fine = {}, more }: Finding, indent: string): string {
  const inner = `${indent}  `
  const others = Object.entries(fine).map(([of, count]) => `${count} ${of}${count === 1 ? ' waits' : 's wait'} for nothing`)
  if (more !== undefined) others.push(`${more} more wait`)
  return [
    `${indent}${kind} ${name}: ${state}${alike === undefined ? '' : `, and ${alike} more for the same reasons`}\n`,
    ...waits.map(({ cause, message }) => `${inner}${cause}: ${message}\n`),
    ...parts.map((part) => printFinding(part, inner)),
    ...others.map((line) => `${inner}(${line})\n`),
  ].join('')
}
