import { type Client, type Discovery, type ResourceAddress, undiscoveredMessage, type VersionedResource } from '@orch/client'
import { suggestion } from '@orch/platform'
import { CtlError } from './words.ts'

/** One resource of the server, as discovery describes it. */
export type ServedResource = VersionedResource

interface GroupListDocument {
  readonly groups: readonly {
    readonly name: string
    readonly preferredVersion: { readonly version: string }
    readonly versions: readonly { readonly version: string }[]
  }[]
}

/** The resources of a server, read once. */
export class Resources {
  readonly #client: Client
  #groups: Promise<GroupListDocument['groups']> | undefined
  #discovery: Promise<Discovery<ServedResource>> | undefined

  constructor(client: Client) {
    this.#client = client
  }

  /** The core group first. */
  groups(): Promise<GroupListDocument['groups']> {
    this.#groups ??= this.#client
      .request<GroupListDocument>({ method: 'GET', path: '/apis' })
      .then(({ groups }) => [{ name: '', preferredVersion: { version: 'v1' }, versions: [{ version: 'v1' }] }, ...groups])
    return this.#groups
  }

  /** All versions, the preferred one of a group first. */
  all(): Promise<readonly ServedResource[]> {
    return this.#discover().then(({ resources }) => resources)
  }

  #discover(): Promise<Discovery<ServedResource>> {
    this.#discovery ??= this.#client.discoverVersions()
    return this.#discovery
  }

  /** Throws if the server of a group is unreachable, so that its resources are unknown. */
  async requireComplete(): Promise<undefined> {
    const { undiscovered } = await this.#discover()
    if (undiscovered.length > 0) throw new CtlError(undiscoveredMessage(undiscovered))
  }

  /** A missing resource may belong to a group whose server is unreachable. */
  async #notFound(text: string): Promise<CtlError> {
    const { undiscovered } = await this.#discover()
    return new CtlError(undiscovered.length === 0 ? text : `${text}\n${undiscoveredMessage(undiscovered)}`)
  }

  /** A resource by plural, singular, short name or kind, optionally with version and group after dots: `deployments.v1.apps`. */
  async find(word: string): Promise<ServedResource> {
    const wanted = word.toLowerCase()
    const all = await this.all()
    const [name = '', ...behind] = wanted.split('.')
    const matches = (resource: ServedResource, called: string) =>
      resource.plural === called ||
      resource.singular === called ||
      resource.kind.toLowerCase() === called ||
      resource.shortNames.includes(called)
    const isIn = ({ group, version }: ServedResource) => {
      const rest = behind.join('.')
      return rest === '' || rest === group || rest === `${version}.${group}` || (group === '' && rest === version)
    }
    const found = all.filter((resource) => matches(resource, name) && isIn(resource))
    const exact =
      found.find(({ plural, isPreferred }) => plural === name && isPreferred) ?? found.find(({ isPreferred }) => isPreferred) ?? found[0]
    if (exact !== undefined) return exact
    const like = suggestion(name, [...new Set(all.map(({ plural }) => plural))])
    throw await this.#notFound(`the server doesn't have a resource type "${word}"${like}`)
  }

  /** Resources of a word, which may be a category, or several words separated by commas. */
  async findAll(words: string): Promise<ServedResource[]> {
    const all = await this.all()
    const found: ServedResource[] = []
    for (const word of words.split(',')) {
      const members = all.filter(({ categories, isPreferred, verbs }) => isPreferred && categories.includes(word) && verbs.includes('list'))
      found.push(...(members.length > 0 ? members : [await this.find(word)]))
    }
    return found
  }

  async ofKind(apiVersion: string, kind: string): Promise<ServedResource> {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
    const find = async () =>
      (await this.all()).find((resource) => resource.kind === kind && resource.group === group && resource.version === version)
    // A definition may have been created meanwhile.
    const found = (await find()) ?? (await this.#again(find))
    if (found !== undefined) return found
    throw await this.#notFound(
      `no matches for kind "${kind}" in version "${apiVersion}": the server does not serve it; install its definition first`,
    )
  }

  #again<T>(find: () => Promise<T>): Promise<T> {
    this.#discovery = undefined
    this.#groups = undefined
    return find()
  }
}

/** `deployments.apps`; without a group only the plural. */
export function qualifiedName({ plural, group }: ResourceAddress): string {
  return group === '' ? plural : `${plural}.${group}`
}

/** The name of an object in messages: `deployment.apps/web`. */
export function objectName({ singular, group }: ServedResource, name: string): string {
  return `${group === '' ? singular : `${singular}.${group}`}/${name}`
}
