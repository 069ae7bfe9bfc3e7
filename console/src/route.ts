import { computed, signal } from '@preact/signals'

/** A place in the console, as its address says it: `#/objects?kind=pods&ns=default`. */
interface Route {
  readonly page: string
  readonly query: URLSearchParams
}

const hash = signal(location.hash)

addEventListener('hashchange', () => {
  hash.value = location.hash
})

/** The present place. */
export const route = computed<Route>(() => {
  const [, page = '', query = ''] = /^#\/([^?]*)(?:\?(.*))?$/.exec(hash.value) ?? []
  return { page: page === '' ? 'now' : page, query: new URLSearchParams(query) }
})

/** The revision that the pages show; '' for the present. */
export const moment = computed(() => route.value.query.get('at') ?? '')

/** The address of a place, at the moment of the present one; parameters without a value are left out. */
export function linkTo(page: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries({ at: moment.value, ...query }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  )
  const text = new URLSearchParams(given).toString()
  return `#/${page}${text === '' ? '' : `?${text}`}`
}

/** Goes to a place. */
export function goTo(page: string, query?: Readonly<Record<string, string | undefined>>): void {
  location.hash = linkTo(page, query)
}

/** Changes parameters of the present place, without an entry in the history. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { page, query } = route.value
  const address = linkTo(page, { ...Object.fromEntries(query), ...changes })
  history.replaceState(null, '', address)
  hash.value = address
}
