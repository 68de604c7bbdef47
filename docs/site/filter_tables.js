// A field above each page of long tables that leaves the rows which hold all words typed.
const LONG = 15

function addFilter() {
  const article = document.querySelector("article")
  const rows = article ? [...article.querySelectorAll("table tbody tr")] : []
  if (rows.length < LONG || article.querySelector(".filter-rows")) return
  const field = document.createElement("input")
  field.type = "search"
  field.className = "filter-rows md-input md-input--stretch"
  field.placeholder = `Filter ${rows.length} rows of this page`
  field.setAttribute("aria-label", field.placeholder)
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/)
    for (const row of rows) {
      const text = row.textContent.toLowerCase()
      row.hidden = !words.every((word) => text.includes(word))
    }
  })
  article.querySelector("h1").after(field)
}

document.addEventListener("DOMContentLoaded", addFilter)
