import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { ask, formOf } from '../api.ts'
import { type Blame, blameOf } from '../blame.ts'
import type { KubeObject } from '../objects.ts'
import { isSecret, type Kind, keyOfKind, pathOf } from '../paths.ts'
import { Problem } from '../problem.tsx'
import { linkTo, route } from '../route.ts'
import { type Column, Table } from '../table.tsx'
import { dayAndTime } from '../text.ts'
import { follow } from '../watches.ts'
import { kinds } from '../world.ts'
import { shownText, yamlLines } from '../yaml.ts'
import { Events, Finalizers, Owners, Watchers } from './relations.tsx'
import { Versions } from './versions.tsx'

/** One object: its YAML with the managers of its fields, and its related objects. */
export function ObjectPage() {
  const { query } = route.value
  const kind = kinds.value.get(query.get('kind') ?? '')
  const name = query.get('name') ?? ''
  if (kind === undefined || name === '')
    return <p class="empty">{kinds.value.size === 0 ? 'Reading the kinds …' : 'The server has no such kind or object.'}</p>
  const ns = query.get('ns') ?? ''
  return <Shown key={`${keyOfKind(kind)}/${ns}/${name}`} kind={kind} namespace={ns} name={name} />
}

/** Minimum time between two displayed states of an object. */
const showEveryMs = 250

function Shown({ kind, namespace, name }: { readonly kind: Kind; readonly namespace: string; readonly name: string }) {
  const object = useSignal<KubeObject | undefined>(undefined)
  const problem = useSignal('')
  const showsValues = useSignal(!isSecret(kind))
  const isWhole = showsValues.value
  useEffect(() => {
    let timer: number | undefined
    let newest: KubeObject | undefined
    const show = (found: KubeObject) => {
      newest = isWhole ? found : metadataOf(found, kind)
      timer ??= setTimeout(() => {
        timer = undefined
        object.value = newest
      }, showEveryMs)
    }
    const accept = isWhole ? 'application/json' : formOf('PartialObjectMetadata')
    const end = follow<KubeObject>({
      path: `${pathOf(kind, namespace)}?${new URLSearchParams({ fieldSelector: `metadata.name=${name}` })}`,
      accept,
      async read(isOver) {
        const found = await ask<KubeObject>(pathOf(kind, namespace, name), { headers: { accept } })
        if (!isOver()) object.value = isWhole ? found : metadataOf(found, kind)
        return found.metadata.resourceVersion
      },
      onEvents(events) {
        const last = events.at(-1)
        problem.value = last?.type === 'DELETED' ? 'The object has been deleted. This was its last state.' : ''
        if (last !== undefined) show(last.object)
      },
      onProblem: (message) => (problem.value = message),
    })
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [kind, namespace, name, isWhole])
  const shown = object.value
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('objects', { kind: keyOfKind(kind), ns: namespace })}>{kind.kind}</a>
        {namespace !== '' && ` in ${namespace}`}
      </p>
      <h1>{name}</h1>
      <Problem text={problem.value} />
      {!isWhole && shown !== undefined && (
        <p class="tools">
          The values of a Secret are not shown.{' '}
          <button type="button" onClick={() => (showsValues.value = true)}>
            Show the values
          </button>
        </p>
      )}
      {shown !== undefined && (
        <div class="object">
          <Yaml object={shown} />
          <div class="beside">
            <Finalizers object={shown} />
            <Owners object={shown} kind={kind} namespace={namespace} />
            <Versions kind={kind} namespace={namespace} name={name} hasValues={isWhole} />
            <Events object={shown} namespace={namespace} />
            <Watchers object={shown} kind={kind} namespace={namespace} />
          </div>
        </div>
      )}
    </>
  )
}

/** An object without its values, which keeps its kind. */
function metadataOf({ metadata }: KubeObject, { group, version, kind }: Kind): KubeObject {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata }
}

const managerWidth = 22

function Yaml({ object }: { readonly object: KubeObject }) {
  const { lines, blame, characters } = useMemo(() => {
    const { managedFields = [], ...metadata } = object.metadata
    const shown = { ...object, metadata }
    const printed = yamlLines(shown).map(({ text, path }, index) => ({ text: shownText(text), path, index }))
    const longest = printed.reduce((most, { text }) => Math.max(most, text.length), 0)
    return { lines: printed, blame: blameOf(shown, managedFields), characters: longest + managerWidth + 4 }
  }, [object])
  const managersOf = (line: (typeof lines)[number] | undefined) =>
    line === undefined
      ? ''
      : blame(line.path)
          .map(({ manager }) => manager)
          .join(', ')
  const columns: readonly Column<(typeof lines)[number]>[] = [
    {
      title: 'Manager',
      cell: (line) => {
        const managers = managersOf(line)
        return (
          <span class="blame" title={blame(line.path).map(describe).join('\n')}>
            {managers === managersOf(lines[line.index - 1]) ? '' : managers}
          </span>
        )
      },
      width: managerWidth,
    },
    { title: 'Field', cell: ({ text }) => <pre>{text}</pre> },
  ]
  return (
    <Table
      label="The object as YAML, with the managers of its fields"
      columns={columns}
      rows={lines}
      keyOf={({ index }) => String(index)}
      empty=""
      look="yaml"
      characters={characters}
    />
  )
}

function describe({ manager, operation, subresource, time }: Blame): string {
  return `${manager}: ${operation}${subresource === '' ? '' : ` of ${subresource}`}${time === '' ? '' : `, ${dayAndTime(time)}`}`
}
