import docx
import openpyxl

sales = [("quarter", "sales"), (1, 1200), (2, 1350)]

report = docx.Document()
report.add_heading("Made in a sandbox")
table = report.add_table(rows=0, cols=2)
for row in sales:
    for cell, value in zip(table.add_row().cells, row):
        cell.text = str(value)
report.save("report.docx")

book = openpyxl.Workbook()
for row in sales:
    book.active.append(row)
book.active["B4"] = "=SUM(B2:B3)"
book.save("sales.xlsx")
