import { isJsonObject } from '@orch/core/json'
import { type ApiObject, parseDuration } from '@orch/core/meta'
import { systemClock, timeoutSignal } from '@orch/platform'
import { type Command, command } from '../command.ts'
import { parseTemplate } from '../output/template.ts'
import { objectName } from '../resources.ts'
import { choiceFlags } from '../targets.ts'
import { CtlError } from '../words.ts'
import { chosen, ofMany } from './chosen.ts'
import { untilMet } from './until.ts'

/** True if an object meets the condition of `--for`. An absent object is `undefined`. */
type Wanted = (object: ApiObject | undefined) => boolean

/** `orchctl wait`. */
export const wait: Command = command({
  usage: 'wait resource/name | -f file | resource -l selector --for=condition=Ready | delete | create | jsonpath={.status.phase}=Active',
  doc: 'wait until objects have a condition',
  takesObjects: true,
  flags: {
    ...choiceFlags,
    for: { word: 'condition', doc: 'delete, create, condition=name[=value], or jsonpath={path}=value.' },
    timeout: { word: 'duration', doc: 'Longest wait. (default 30s)' },
  },
  async run(context) {
    const { terminal, session, flags } = context
    if (flags.for === undefined) throw new CtlError('--for is required: delete, create, condition=name or jsonpath={path}=value')
    const wanted = readCondition(flags.for)
    const timeoutMs = Number(parseDuration(flags.timeout ?? '30s') ?? -1n) / 1_000_000
    if (timeoutMs < 0) throw new CtlError(`--timeout=${flags.timeout}: must be a duration such as 30s`)
    const ending = AbortSignal.any([terminal.signal, timeoutSignal(systemClock, timeoutMs)])
    const targets = await chosen(context)
    if (targets.length === 0 && flags.for !== 'delete') throw new CtlError('no matching resources found')
    for (const [index, { resource, namespace, name }] of targets.entries()) {
      if (name === undefined) throw new CtlError('objects must be named: resource/name')
      const collection = session.client.resource(resource)
      const called = objectName(resource, name)
      terminal.statusLine.show(`waiting for ${called}: ${flags.for}${ofMany(index, targets)}`)
      // An absent object never gets a condition.
      if (flags.for !== 'delete' && flags.for !== 'create') await collection.get(name, { namespace })
      if (!(await untilMet(collection, { namespace, name, isMet: wanted, signal: ending })))
        throw new CtlError(`timed out waiting for the condition on ${called}`)
      terminal.out(`${called} ${flags.for === 'delete' ? 'deleted' : 'condition met'}\n`)
    }
  },
})

interface Condition {
  readonly type?: string
  readonly status?: string
}

function readCondition(text: string): Wanted {
  if (text === 'delete') return (object) => object === undefined
  if (text === 'create') return (object) => object !== undefined
  const [, kind, rest = ''] = /^(condition|jsonpath)=(.+)$/s.exec(text) ?? []
  if (kind === 'condition') {
    const [name = '', value = 'true'] = rest.split('=')
    return (object) => {
      const status = isJsonObject(object?.['status']) ? object['status'] : {}
      const conditions: readonly Condition[] = Array.isArray(status['conditions']) ? status['conditions'] : []
      return conditions.find(({ type }) => type?.toLowerCase() === name.toLowerCase())?.status?.toLowerCase() === value.toLowerCase()
    }
  }
  if (kind === 'jsonpath') {
    const [, path = '', value] = /^(\{.*\}|'\{.*\}')(?:=(.*))?$/s.exec(rest) ?? []
    if (path === '') throw new CtlError(`--for=${text}: expected jsonpath={path}=value`)
    const print = parseTemplate(path.replaceAll("'", ''))
    return (object) => {
      const printed = object === undefined ? '' : print(object)
      return value === undefined ? printed !== '' : printed === value
    }
  }
  throw new CtlError(`--for=${text}: must be delete, create, condition=name or jsonpath={path}=value`)
}
