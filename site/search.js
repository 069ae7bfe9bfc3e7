/** The search: its index is loaded when the field is entered. */
const field = document.getElementById('search')
const found = document.getElementById('found')
const resultsMax = 12
let index

// On a wide screen the menu is always open.
const menu = document.querySelector('.menu')
const isWide = matchMedia('(min-width: 56rem)')
const openMenu = () => {
  menu.open = isWide.matches
}
openMenu()
isWide.addEventListener('change', openMenu)

field.addEventListener('focus', () => {
  index ??= load()
})

field.addEventListener('input', async () => {
  index ??= load()
  const { search, sections } = await index
  const results = field.value.trim() === '' ? [] : search(field.value).slice(0, resultsMax)
  found.replaceChildren(...results.map(({ id }) => entryOf(sections[id])))
  found.hidden = results.length === 0
})

field.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') field.value = ''
  if (event.key === 'Escape') found.hidden = true
  if (event.key === 'Enter') found.querySelector('a')?.click()
})

found.addEventListener('click', () => {
  found.hidden = true
})

async function load() {
  await Promise.all(['minisearch.js', 'search-index.js'].map(loadScript))
  // The two scripts declare them.
  const [Search, sections] = [MiniSearch, searchSections]
  const options = { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.1, combineWith: 'AND' }
  const made = new Search({ fields: ['page', 'heading', 'body'], searchOptions: options })
  made.addAll(sections.map((section, id) => ({ id, ...section })))
  return { search: (text) => made.search(text), sections }
}

function loadScript(src) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = src
    script.onload = resolve
    script.onerror = reject
    document.head.append(script)
  })
}

function entryOf({ url, page, heading, body }) {
  const link = document.createElement('a')
  link.href = url
  const title = document.createElement('strong')
  title.textContent = heading === page ? page : `${page}: ${heading}`
  const text = document.createElement('span')
  text.textContent = body.slice(0, 120)
  link.append(title, text)
  const entry = document.createElement('li')
  entry.append(link)
  return entry
}
