import { printApiVersion } from '@orch/core/meta'
import { type Command, command } from '../command.ts'
import { printColumns } from '../output/columns.ts'
import { CtlError } from '../words.ts'

/** An OpenAPI 3 schema, limited to the members that explain uses. */
interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly allOf?: readonly Schema[]
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly group: string; readonly version: string; readonly kind: string }[]
}

interface OpenApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** `orchctl explain`. */
export const explain: Command = command({
  usage: 'explain resource[.field…]',
  doc: 'print the description of a resource and its fields',
  flags: {
    recursive: { word: '', doc: 'Print the fields of fields too.' },
    'api-version': { word: 'version', doc: 'Group version, in place of the preferred one.' },
  },
  async run({ terminal, session, flags, rest }) {
    const [word] = rest
    if (word === undefined) throw new CtlError('you must specify the type of resource to explain')
    const [name = '', ...path] = word.split('.')
    const preferred = await session.resources.find(name)
    const wanted = flags['api-version']
    const resource =
      wanted === undefined
        ? preferred
        : (await session.resources.all()).find(
            (each) => each.kind === preferred.kind && printApiVersion(each.group, each.version) === wanted,
          )
    if (resource === undefined) throw new CtlError(`${preferred.kind} is not served in ${wanted}`)
    const { group, version, kind } = resource
    const where = group === '' ? `api/${version}` : `apis/${group}/${version}`
    const { components } = await session.client.request<OpenApiDocument>({ method: 'GET', path: `/openapi/v3/${where}` })
    const isKind = (schema: Schema) =>
      schema['x-kubernetes-group-version-kind']?.some((gvk) => gvk.group === group && gvk.version === version && gvk.kind === kind) === true
    const root = Object.values(components.schemas).find(isKind)
    if (root === undefined) throw new CtlError(`couldn't find resource for "${group}/${version}, Kind=${kind}"`)
    const explained = new Explained(components.schemas)
    const field = explained.follow(root, path)
    const head = [...(group === '' ? [] : [['GROUP:', group]]), ['KIND:', kind], ['VERSION:', version]]
    const text = [printColumns(head)]
    if (path.length > 0) text.push(`FIELD: ${path.at(-1)} <${explained.typeOf(field)}>\n`)
    text.push(`DESCRIPTION:\n${wrapped(explained.description(field) || '<empty>', '    ')}`)
    const fields = explained.printFields(field, { depth: 1, isRecursive: flags.recursive })
    if (fields !== '') text.push(`FIELDS:\n${fields}`)
    terminal.out(`${text.join('\n')}\n`)
  },
})

/** Maximum depth of nested fields, as some types contain themselves. */
const depthMax = 20

class Explained {
  readonly #schemas: OpenApiDocument['components']['schemas']

  constructor(schemas: OpenApiDocument['components']['schemas']) {
    this.#schemas = schemas
  }

  follow(root: Schema, path: readonly string[]): Schema {
    let schema = root
    for (const name of path) {
      const next = this.#inner(schema).properties?.[name]
      if (next === undefined) throw new CtlError(`field "${name}" does not exist`)
      schema = next
    }
    return schema
  }

  description(schema: Schema): string {
    return schema.description || this.#resolve(schema).description || ''
  }

  typeOf(schema: Schema): string {
    const resolved = this.#resolve(schema)
    if (resolved.type === 'array') return `[]${this.typeOf(resolved.items ?? {})}`
    if (typeof resolved.additionalProperties === 'object') return `map[string]${this.typeOf(resolved.additionalProperties)}`
    const name = this.#nameOf(schema)
    if (name !== undefined && resolved.properties !== undefined) return name
    return resolved.type === undefined || resolved.type === 'object' ? 'Object' : resolved.type
  }

  printFields(schema: Schema, { depth, isRecursive }: { readonly depth: number; readonly isRecursive: boolean }): string {
    const { properties = {}, required = [] } = this.#inner(schema)
    const indent = '  '.repeat(depth)
    return Object.entries(properties)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, field]) => {
        const line = `${indent}${name}\t<${this.typeOf(field)}>${required.includes(name) ? ' -required-' : ''}\n`
        if (isRecursive) return line + (depth < depthMax ? this.printFields(field, { depth: depth + 1, isRecursive }) : '')
        return `${line}${wrapped(this.description(field) || '<no description>', `${indent}  `)}\n`
      })
      .join('')
  }

  /** The schema with the fields: that of a list's items or a map's values. */
  #inner(schema: Schema): Schema {
    const resolved = this.#resolve(schema)
    if (resolved.type === 'array' && resolved.items !== undefined) return this.#inner(resolved.items)
    if (typeof resolved.additionalProperties === 'object') return this.#inner(resolved.additionalProperties)
    return resolved
  }

  #refOf({ $ref, allOf }: Schema): string | undefined {
    return ($ref ?? allOf?.[0]?.$ref)?.replace(/^.*\//, '')
  }

  #nameOf(schema: Schema): string | undefined {
    return this.#refOf(schema)?.split('.').at(-1)
  }

  #resolve(schema: Schema): Schema {
    const name = this.#refOf(schema)
    return name === undefined ? schema : (this.#schemas[name] ?? {})
  }
}

function wrapped(text: string, indent: string): string {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + word.length + 1 > 80 - indent.length) {
        lines.push(line)
        line = word
      } else line = line === '' ? word : `${line} ${word}`
    }
    lines.push(line)
  }
  return lines.map((line) => `${`${indent}${line}`.trimEnd()}\n`).join('')
}
