import { computed, signal } from '@preact/signals'

/** A location in the console, from its URL: `#/objects?kind=pods&ns=default`. */
interface Route {
  readonly page: string
  readonly query: URLSearchParams
}

const hash = signal(location.hash)

addEventListener('hashchange', () => {
  hash.value = location.hash
})

/** The current location. */
export const route = computed<Route>(() => {
  const [, page = '', query = ''] = /^#\/([^?]*)(?:\?(.*))?$/.exec(hash.value) ?? []
  return { page: page === '' ? 'now' : page, query: new URLSearchParams(query) }
})

/** The displayed revision; '' for the present. */
export const moment = computed(() => route.value.query.get('at') ?? '')

/** The URL of a location at the displayed moment. Empty parameters are omitted. */
export function linkTo(page: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries({ at: moment.value, ...query }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  )
  const text = new URLSearchParams(given).toString()
  return `#/${page}${text === '' ? '' : `?${text}`}`
}

/** Navigates to a location. */
export function goTo(page: string, query?: Readonly<Record<string, string | undefined>>): void {
  location.hash = linkTo(page, query)
}

/** Changes parameters of the current location without a history entry. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { page, query } = route.value
  const address = linkTo(page, { ...Object.fromEntries(query), ...changes })
  history.replaceState(null, '', address)
  hash.value = address
}
