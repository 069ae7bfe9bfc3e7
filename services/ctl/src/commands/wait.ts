import { isJsonObject } from '@orch/core/json'
import { type ApiObject, parseDuration, StatusError } from '@orch/core/meta'
import { type Command, command } from '../command.ts'
import { parseTemplate } from '../output/template.ts'
import { objectName } from '../resources.ts'
import { selectionFlags } from '../targets.ts'
import { CtlError } from '../words.ts'
import { chosen } from './chosen.ts'

/** Whether an object meets the condition of `--for`. An absent object is `undefined`. */
type Wanted = (object: ApiObject | undefined) => boolean

/** `orchctl wait`. */
export const wait: Command = command({
  usage: 'wait resource/name | -f file | resource -l selector --for=condition=Ready | delete | create | jsonpath={.status.phase}=Active',
  doc: 'wait until objects have a condition',
  takesObjects: true,
  flags: {
    ...selectionFlags,
    for: { word: 'condition', doc: 'delete, create, condition=name[=value], or jsonpath={path}=value.' },
    timeout: { word: 'duration', doc: 'How long to wait at most. (default 30s)' },
  },
  async run(context) {
    const { terminal, session, flags } = context
    if (flags.for === undefined) throw new CtlError('--for is required: delete, create, condition=name or jsonpath={path}=value')
    const wanted = readCondition(flags.for)
    const timeoutMs = Number(parseDuration(flags.timeout ?? '30s') ?? -1n) / 1_000_000
    if (timeoutMs < 0) throw new CtlError(`--timeout=${flags.timeout}: must be a duration such as 30s`)
    const ending = AbortSignal.any([terminal.signal, AbortSignal.timeout(timeoutMs)])
    const targets = await chosen(context)
    if (targets.length === 0 && flags.for !== 'delete') throw new CtlError('no matching resources found')
    for (const { resource, namespace, name } of targets) {
      if (name === undefined) throw new CtlError('objects must be named: resource/name')
      const collection = session.client.resource(resource)
      const select = { namespace, fieldSelector: `metadata.name=${name}` }
      const { items, metadata } = await collection.list(select)
      if (items.length === 0 && !wanted(undefined) && flags.for !== 'create')
        throw new StatusError({ ...(await missing(() => collection.get(name, { namespace }))) })
      if (!wanted(items[0])) {
        try {
          const events = await collection.watch({ ...select, resourceVersion: metadata.resourceVersion, signal: ending })
          for await (const { type, object } of events) if (type !== 'BOOKMARK' && wanted(type === 'DELETED' ? undefined : object)) break
        } catch (error) {
          if (!ending.aborted) throw error
        }
        if (ending.aborted) throw new CtlError(`timed out waiting for the condition on ${objectName(resource, name)}`)
      }
      terminal.out(`${objectName(resource, name)} ${flags.for === 'delete' ? 'deleted' : 'condition met'}\n`)
    }
    return undefined
  },
})

/** The 404 of an absent object. */
async function missing(read: () => Promise<unknown>) {
  try {
    await read()
  } catch (error) {
    if (error instanceof StatusError) return error.status
    throw error
  }
  throw new CtlError('the object was created in the meantime; run the command again')
}

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
