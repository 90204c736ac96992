"""The default categories that a new installation starts with.

Korean names, and the English ones that an import in English takes instead.
"""

EXPENSE = {
    ("식비", "Food"): [
        ("식료품", "Groceries"),
        ("외식", "Eating out"),
        ("카페/간식", "Cafes and snacks"),
        ("배달", "Delivery"),
    ],
    ("주거", "Housing"): [
        ("월세/관리비", "Rent and fees"),
        ("전기/가스/수도", "Utilities"),
        ("통신비", "Phone and internet"),
        ("가구/가전", "Furniture and appliances"),
    ],
    ("교통", "Transport"): [
        ("대중교통", "Public transport"),
        ("택시", "Taxi"),
        ("주유/충전", "Fuel and charging"),
        ("주차/통행료", "Parking and tolls"),
        ("차량 유지", "Car upkeep"),
    ],
    ("생활", "Living"): [
        ("생활용품", "Household goods"),
        ("의류/잡화", "Clothing"),
        ("미용", "Beauty"),
        ("반려동물", "Pets"),
    ],
    ("건강", "Health"): [
        ("병원", "Doctor and hospital"),
        ("약국", "Pharmacy"),
        ("운동", "Sports"),
    ],
    ("교육", "Education"): [
        ("학원/강의", "Courses"),
        ("도서", "Books"),
        ("자녀 교육", "Children's education"),
    ],
    ("여가", "Leisure"): [
        ("문화생활", "Culture"),
        ("여행", "Travel"),
        ("취미", "Hobbies"),
        ("구독", "Subscriptions"),
    ],
    ("금융", "Finance"): [
        ("보험", "Insurance"),
        ("대출이자", "Loan interest"),
        ("세금", "Taxes"),
        ("수수료", "Bank charges"),
    ],
    ("경조사/선물", "Gifts and occasions"): [
        ("경조사비", "Family occasions"),
        ("선물", "Gifts"),
        ("기부", "Donations"),
        ("용돈", "Allowances"),
    ],
    ("기타 지출", "Other expenses"): [],
}
INCOME = {
    ("근로소득", "Work"): [
        ("급여", "Salary"),
        ("상여금", "Bonus"),
        ("부업", "Side job"),
    ],
    ("금융소득", "Returns"): [
        ("이자", "Interest"),
        ("배당", "Dividends"),
        ("투자수익", "Investment gains"),
    ],
    ("이전소득", "Transfers"): [
        ("용돈 수입", "Allowance received"),
        ("정부지원금", "Benefits"),
        ("환급", "Refunds"),
    ],
    ("기타 수입", "Other income"): [],
}


def insert_default_categories(apps, schema_editor):
    """Insert both trees, in the order in which they are written here."""
    category = apps.get_model("ledger", "DefaultCategory")
    for type_, tree in (("expense", EXPENSE), ("income", INCOME)):
        for sort_order, ((name, name_en), minors) in enumerate(tree.items(), start=1):
            major = category.objects.create(
                type=type_, name=name, name_en=name_en, sort_order=sort_order
            )
            category.objects.bulk_create(
                category(
                    type=type_,
                    name=minor,
                    name_en=minor_en,
                    parent=major,
                    sort_order=minor_order,
                )
                for minor_order, (minor, minor_en) in enumerate(minors, start=1)
            )
